"""Goes back and forth with a client that was made from the owner's document."""

import sys

from made import AuthenticatedClient
from made.api.conversations import apply, create, log, plan, say, targets
from made.models import ApplyRewind, ApplyUndo, CreateBody, PartText, PlanRewind, Role, SayBody

base, token = sys.argv[1:]
with AuthenticatedClient(base_url=base, token=token, raise_on_unexpected_status=True) as client:
    name = create.sync(client=client, body=CreateBody(title="by a program")).conversation
    for number, words in enumerate(["one", "two", "three"]):
        body = SayBody(role=Role.USER, parts=[PartText(type_="text", text=words)])
        said = say.sync(name, client=client, body=body, idempotency_key=f"say-{number}")
        again = say.sync(name, client=client, body=body, idempotency_key=f"say-{number}")
        assert again.entries == said.entries, again

    def preview():
        page = log.sync(name, client=client)
        return " ".join(entry.parts[0].text for entry in page.entries)

    turns = targets.sync(name, client=client).targets
    entry = next(turn.entry for turn in turns if "two" in turn.preview)
    planned = plan.sync(name, client=client, body=PlanRewind(action="rewind", entry=entry))
    print("planned", planned.taken_back.messages)
    rewind = ApplyRewind(action="rewind", entry=entry, head=planned.head)
    rewound = apply.sync(name, client=client, body=rewind, idempotency_key="rewind")
    print("rewound", rewound.taken_back.messages, preview())
    late = apply.sync(name, client=client, body=rewind)
    print("late", late.kind, late.code)
    undo = ApplyUndo(action="undo", count=1, head=rewound.head)
    undone = apply.sync(name, client=client, body=undo)
    print("undone", undone.brought_back.messages, preview())
