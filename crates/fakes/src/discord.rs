//! A fake Discord: REST and gateway, version 10, as far as the adapter and a common client need it. Rules are those of the vendor's
//! documents of 6 August 2026, named as [D page]; what users report is \[U\]. What nobody says is refused. Must never be more lenient
//! than the documents.

mod body;
mod gateway;
mod messages;
mod refused;
mod rest;
mod rules;
mod world;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use serde_json::{Map, Value, json};
use tokio::sync::watch;

use crate::control::Control;
use crate::serving::Serving;
use crate::socket;

use gateway::Order;
use world::{GUILDS, Guild, Interaction, World};

pub use body::File;
pub use world::Whisper;

/// What everybody may do in a new guild: see, send, read the history, also in threads [D permissions].
const EVERYONE: u64 = rules::VIEW_CHANNEL
    | rules::SEND_MESSAGES
    | rules::READ_MESSAGE_HISTORY
    | rules::SEND_MESSAGES_IN_THREADS;

/// The permission to manage messages, for roles.
pub const MANAGE_MESSAGES: u64 = rules::MANAGE_MESSAGES;
/// The permission to manage threads, for roles.
pub const MANAGE_THREADS: u64 = rules::MANAGE_THREADS;
/// The permission to read earlier messages.
pub const READ_MESSAGE_HISTORY: u64 = rules::READ_MESSAGE_HISTORY;
/// The permission to see a channel.
pub const VIEW_CHANNEL: u64 = rules::VIEW_CHANNEL;

/// A running fake with one bot.
#[derive(Debug)]
pub struct FakeDiscord {
    serving: Serving,
    world: Arc<Mutex<World>>,
    orders: watch::Sender<Order>,
}

impl FakeDiscord {
    /// Starts a fake whose bot has this token. It is in no guild yet.
    pub async fn start(token: &str) -> Self {
        let control = Control::default();
        let world = Arc::new(Mutex::new(World::new(control.clone(), token)));
        let (orders, followed) = watch::channel(Order::None);
        let (shared, serving) = (Arc::clone(&world), control.clone());
        let serve = async move |request: Request<Body>| {
            let (world, path) = (Arc::clone(&shared), request.uri().path().to_owned());
            if path.starts_with("/api/v10/") {
                return rest::answer(world, request).await;
            }
            if let Some(path) = path.strip_prefix("/files/") {
                return rest::file(&world, path, request.uri().query().unwrap_or_default());
            }
            if path != "/" {
                return StatusCode::NOT_FOUND.into_response();
            }
            let orders = followed.clone();
            socket::accept(&serving, request, move |socket| gateway::serve(world, orders, socket))
        };
        let serving = Serving::start(Router::new().fallback(serve), control).await;
        let fake = Self { serving, world, orders };
        fake.world().base = fake.serving.base();
        fake
    }

    /// What a test controls. These are the names of the methods:
    ///
    /// - calls about messages: `send`, `edit`, `delete`, `delete_many`, `history`, `message`, `typing`
    /// - calls about places and people: `channel`, `change_channel`, `guild`, `guilds`, `member`, `me`, `application`, `gateway`
    /// - answers to a press, and files: `callback`, `followup`, `file`
    /// - what clients tell the gateway: `identify`, `resume`, `close`
    pub fn control(&self) -> &Control {
        self.serving.control()
    }

    /// The base of the REST API.
    pub fn rest(&self) -> String {
        format!("{}/api/v10", self.serving.base())
    }

    /// The address of the gateway.
    pub fn gateway(&self) -> String {
        format!("ws://{}", self.serving.address())
    }

    /// The server for files.
    pub fn files(&self) -> String {
        self.serving.base()
    }

    /// The bot's id.
    pub fn me(&self) -> String {
        self.world().me.clone()
    }

    /// Switches the permission to read content on or off, in the portal of the platform.
    pub fn set_reads_content(&self, reads_content: bool) {
        self.world().flags = if reads_content { 1 << 19 } else { 0 };
    }

    /// How often clients must send heartbeats, in milliseconds.
    pub fn set_heartbeat_ms(&self, heartbeat_ms: u64) {
        self.world().live.heartbeat_ms = heartbeat_ms;
    }

    /// Whether heartbeats stay without an answer.
    pub fn set_mute(&self, is_mute: bool) {
        self.world().live.is_mute = is_mute;
    }

    /// How many sessions may still begin today.
    pub fn set_identifies_left(&self, left: u64) {
        self.world().live.identifies_left = left;
    }

    /// Makes archived threads refuse deletions, too: see `require_deletable`.
    pub fn set_archived_refuse(&self, refuse: bool) {
        self.world().live.archived_refuse = refuse;
    }

    /// Adds a person. Returns the id.
    pub fn add_user(&self, name: &str) -> String {
        self.world().user(name, false)
    }

    /// Adds another bot. Returns the id.
    pub fn add_bot(&self, name: &str) -> String {
        self.world().user(name, true)
    }

    /// Adds a guild with our bot and these people. The first one owns it. Returns the id.
    pub fn add_guild(&self, people: &[&str]) -> String {
        let mut world = self.world();
        let id = world.id().to_string();
        let role = json!({
            "id": id, "name": "@everyone", "permissions": EVERYONE.to_string(), "position": 0, "color": 0,
            "hoist": false, "managed": false, "mentionable": false, "flags": 0,
        });
        let object = json!({
            "id": id, "name": "guild", "owner_id": people.first(), "roles": [role], "emojis": [], "stickers": [],
            "features": [], "icon": null, "splash": null, "verification_level": 0, "afk_timeout": 60,
            "default_message_notifications": 0, "explicit_content_filter": 0, "mfa_level": 0, "nsfw_level": 0,
            "premium_tier": 0, "preferred_locale": "en-US", "system_channel_flags": 0,
        });
        let members = people.iter().map(|user| ((*user).to_owned(), Vec::new())).collect();
        world.guilds.insert(id.clone(), Guild { object, members });
        drop(world);
        self.join(&id);
        id
    }

    /// Adds our bot to a guild.
    pub fn join(&self, guild: &str) {
        let mut world = self.world();
        let me = world.me.clone();
        world.guilds.get_mut(guild).expect("BUG: no such guild").members.insert(me, Vec::new());
        let whole = world.whole_guild(guild);
        world.deliver("GUILD_CREATE", GUILDS, &whole);
    }

    /// Removes our bot from a guild.
    pub fn leave(&self, guild: &str) {
        let mut world = self.world();
        let me = world.me.clone();
        world.guilds.get_mut(guild).expect("BUG: no such guild").members.remove(&me);
        world.deliver("GUILD_DELETE", GUILDS, &json!({"id": guild}));
    }

    /// Adds a role with these permissions, and gives it to a user.
    pub fn grant(&self, guild: &str, user: &str, permissions: u64) {
        let mut world = self.world();
        let id = world.id().to_string();
        let role = json!({
            "id": id, "name": "role", "permissions": permissions.to_string(), "position": 1, "color": 0,
            "hoist": false, "managed": false, "mentionable": false, "flags": 0,
        });
        let guild = world.guilds.get_mut(guild).expect("BUG: no such guild");
        guild.object["roles"].as_array_mut().expect("BUG: a guild has roles").push(role);
        guild.members.get_mut(user).expect("BUG: no such member").push(id);
    }

    /// Adds a channel to a guild. Returns the id.
    pub fn add_channel(&self, guild: &str) -> String {
        let mut world = self.world();
        let id = world.id().to_string();
        let channel = json!({
            "id": id, "type": 0, "guild_id": guild, "name": "general", "position": 0, "nsfw": false, "topic": null,
            "permission_overwrites": [], "parent_id": null, "rate_limit_per_user": 0, "last_message_id": null,
        });
        world.channels.insert(id.clone(), channel.clone());
        world.deliver("CHANNEL_CREATE", GUILDS, &channel);
        id
    }

    /// Adds a thread to a channel. Returns the id.
    pub fn add_thread(&self, parent: &str, creator: &str) -> String {
        let mut world = self.world();
        let id = world.id().to_string();
        let now = world::timestamp(world.control.now_ms());
        let thread = json!({
            "id": id, "type": 11, "guild_id": world.guild_of(parent), "parent_id": parent, "owner_id": creator,
            "name": "thread", "message_count": 0, "member_count": 1, "rate_limit_per_user": 0,
            "last_message_id": null, "thread_metadata": {
                "archived": false, "locked": false, "auto_archive_duration": 1_440, "archive_timestamp": now,
            },
        });
        world.channels.insert(id.clone(), thread.clone());
        world.deliver("THREAD_CREATE", GUILDS, &thread);
        id
    }

    /// Opens direct messages with a person. Returns the id of the channel.
    pub fn add_direct(&self, user: &str) -> String {
        let mut world = self.world();
        let id = world.id().to_string();
        let person = world.users.get(user).cloned();
        let channel = json!({"id": id, "type": 1, "recipients": [person], "last_message_id": null});
        world.channels.insert(id.clone(), channel);
        id
    }

    /// Sets an overwrite of a channel: what a role or a member is allowed and denied there.
    pub fn overwrite(&self, channel: &str, id: &str, allow: u64, deny: u64) {
        let mut world = self.world();
        let channel = world.channels.get_mut(channel).expect("BUG: no such channel");
        let rule = json!({"id": id, "type": 1, "allow": allow.to_string(), "deny": deny.to_string()});
        channel["permission_overwrites"].as_array_mut().expect("BUG: a channel has overwrites").push(rule);
    }

    /// Sets the state of a thread.
    pub fn set_thread(&self, thread: &str, is_archived: bool, is_locked: bool) {
        let mut world = self.world();
        let thread = world.channels.get_mut(thread).expect("BUG: no such thread");
        thread["thread_metadata"]["archived"] = json!(is_archived);
        thread["thread_metadata"]["locked"] = json!(is_locked);
    }

    /// Whether a thread is archived.
    pub fn is_archived(&self, thread: &str) -> bool {
        self.world().thread(thread).is_some_and(|thread| thread.is_archived)
    }

    /// Deletes a channel or a thread.
    pub fn remove_channel(&self, channel: &str) {
        let mut world = self.world();
        let object = world.channels.remove(channel).expect("BUG: no such channel");
        let is_thread = object["thread_metadata"].is_object();
        world.deliver(if is_thread { "THREAD_DELETE" } else { "CHANNEL_DELETE" }, GUILDS, &object);
    }

    /// A person writes. Returns the id of the message.
    pub fn write(&self, channel: &str, author: &str, content: &str) -> String {
        self.write_with(channel, author, &json!({"content": content}))
    }

    /// A person writes a message with these fields. Returns its id.
    pub fn write_with(&self, channel: &str, author: &str, fields: &Value) -> String {
        let mut world = self.world();
        let fields: Map<String, Value> = fields.as_object().cloned().unwrap_or_default();
        let message = world.message(channel, author, &fields);
        world.deliver_message("MESSAGE_CREATE", channel, message.clone());
        id(&message)
    }

    /// A person attaches a file. Returns its object, for `write_with`.
    pub fn attach(&self, channel: &str, file: File) -> Value {
        self.world().store(channel, file)
    }

    /// Changes fields of a message, as an edit if `is_edit`, or as an update such as that of embeds.
    pub fn change(&self, channel: &str, message: &str, fields: &Value, is_edit: bool) {
        let mut world = self.world();
        let mut whole = world.stored(channel, message).expect("BUG: no such message").clone();
        for (name, value) in fields.as_object().into_iter().flatten() {
            whole[name] = value.clone();
        }
        if is_edit {
            whole["edited_timestamp"] = json!(world::timestamp(world.control.now_ms()));
        }
        world.replace(channel, message, whole.clone());
        world.deliver_message("MESSAGE_UPDATE", channel, whole);
    }

    /// A person or a moderator deletes messages: one, or several at once.
    pub fn remove(&self, channel: &str, messages: &[&str]) {
        let messages: Vec<String> = messages.iter().map(|id| (*id).to_owned()).collect();
        self.world().remove(channel, &messages);
    }

    /// A person presses a button. Returns the token of the interaction.
    pub fn press(&self, channel: &str, message: &str, user: &str, custom_id: &str) -> String {
        let mut world = self.world();
        let (interaction, at_ms) = (world.id().to_string(), world.control.now_ms());
        let token = format!("aW50ZXJhY3Rpb24_{interaction}");
        let person = world.users.get(user).cloned();
        let guild = world.guild_of(channel).map(str::to_owned);
        let member = guild.as_deref().and_then(|guild| world.member(guild, user));
        let data = json!({
            "id": interaction, "application_id": world.application, "type": 3, "token": token, "version": 1,
            "data": {"custom_id": custom_id, "component_type": 2}, "channel_id": channel, "guild_id": guild,
            "member": member, "user": if member.is_none() { person } else { None },
            "message": world.stored(channel, message).expect("BUG: no such message"),
        });
        let answers = Interaction { id: interaction, user: user.to_owned(), at_ms, is_answered: false };
        world.interactions.insert(token.clone(), answers);
        world.deliver("INTERACTION_CREATE", 0, &data);
        token
    }

    /// The messages of a channel, oldest first.
    pub fn messages(&self, channel: &str) -> Vec<Value> {
        self.world().messages.get(channel).into_iter().flatten().map(|(_, message)| message.clone()).collect()
    }

    /// What was shown to one person only.
    pub fn whispers(&self) -> Vec<Whisper> {
        self.world().whispers.clone()
    }

    /// Delivers the last event of this name again, to all sessions.
    pub fn redeliver(&self, name: &str) {
        self.world().live.sessions.values().for_each(|session| session.redeliver(name));
    }

    /// Ends all sessions: they cannot be resumed. Their sockets stay.
    pub fn lose_sessions(&self) {
        self.world().live.sessions.clear();
    }

    /// Closes all sockets with this code.
    pub fn close_sockets(&self, code: u16) {
        self.orders.send_replace(Order::Close(code));
    }

    /// Asks all clients to connect again.
    pub fn ask_reconnect(&self) {
        self.orders.send_replace(Order::Reconnect);
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn id(message: &Value) -> String {
    message["id"].as_str().unwrap_or_default().to_owned()
}
