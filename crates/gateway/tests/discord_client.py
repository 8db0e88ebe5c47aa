"""Talks to a fake Discord with discord.py, and prints what it sees: one fact per line.

Arguments: the base of the REST API, the address of the gateway, the token, the id of a channel.
"""

import asyncio
import sys

import discord
import yarl

REST, GATEWAY, TOKEN, CHANNEL = sys.argv[1:5]

discord.http.Route.BASE = REST
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(GATEWAY)


def say(*words):
    print(*words, flush=True)


class Client(discord.Client):
    async def on_ready(self):
        channel = self.get_channel(int(CHANNEL))
        can_manage = channel.permissions_for(channel.guild.me).manage_messages
        say("ready", len(self.guilds), channel.name, self.user.name, can_manage)

    async def on_message(self, message):
        if message.author == self.user:
            say("own", message.content)
            return
        say("message", message.author.name, message.content, message.channel.id == int(CHANNEL))
        try:
            await self.act(message)
        except Exception as error:
            say("failed", repr(error))
        await self.close()

    async def act(self, message):
        sent = await message.reply("one", nonce="n1", mention_author=False)
        say("sent", sent.content, sent.reference.message_id == message.id)
        await sent.edit(content="two")
        fetched = await message.channel.fetch_message(sent.id)
        say("edited", fetched.content, fetched.edited_at is not None)
        await sent.delete()
        try:
            await sent.delete()
        except discord.NotFound as error:
            say("gone", error.status, error.code)
        file = discord.File(__file__, filename="a.py")
        with_file = await message.channel.send("file", file=file)
        data = await with_file.attachments[0].read()
        say("file", with_file.attachments[0].filename, data == open(__file__, "rb").read())
        more = [await message.channel.send(f"more {number}") for number in range(3)]
        await message.channel.delete_messages(more)
        say("bulk", len(more))
        try:
            await message.channel.send("x" * 2001)
        except discord.HTTPException as error:
            say("refused", error.status, error.code)


async def main():
    intents = discord.Intents.default()
    intents.message_content = True
    client = Client(intents=intents, guild_ready_timeout=0.2)
    try:
        await asyncio.wait_for(client.start(TOKEN), timeout=60)
    except discord.LoginFailure:
        say("login refused")


asyncio.run(main())
