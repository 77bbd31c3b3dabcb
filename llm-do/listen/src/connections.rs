//! The open connections: admits new connections, and closes old ones to make room.
//!
//! A connection that waits for its client can be closed: its request is incomplete or missing. At the maximum, the
//! oldest of these makes room for a new connection, so that clients that send nothing do not block other clients.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use llm_do_core::base::mutex::IgnorePoison;
use tokio::sync::oneshot;

use super::ConnectionLimits;
use super::address::ClientAddress;

/// The time for which a client is known after a permitted request.
const KNOWN: Duration = Duration::from_secs(10 * 60);
/// The maximum number of known clients.
const MAX_KNOWN: usize = 4096;
/// The divisor of all connections for the part that is reserved for known clients.
const RESERVED_PART: usize = 8;

/// The stage of the current request of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// Its head is incomplete or missing.
    Head,
    /// Its body is incomplete.
    Body,
    /// It is being answered.
    Answer,
}

/// The connections that can be closed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Among {
    All,
    /// The connections of unknown clients.
    Unknown,
    Of(ClientAddress),
}

/// All open connections.
#[derive(Debug)]
pub(super) struct Connections {
    limits: ConnectionLimits,
    state: Mutex<ConnectionsState>,
}

#[derive(Debug, Default)]
struct ConnectionsState {
    next: u64,
    open: HashMap<u64, Open>,
    /// The time of the last request of each known client.
    known: HashMap<ClientAddress, Instant>,
}

#[derive(Debug)]
struct Open {
    address: ClientAddress,
    stage: Stage,
    since: Instant,
    /// Whether its client may make the current request.
    is_allowed: bool,
    /// Closes the connection; taken once it is closing.
    close: Option<oneshot::Sender<()>>,
}

/// An admitted connection.
#[derive(Debug)]
pub(super) struct OpenConnection {
    pub(super) entry: Arc<Entry>,
    /// Resolves once the connection has to make room.
    pub(super) closed: oneshot::Receiver<()>,
}

/// The entry of a connection in the list, which is removed on drop.
#[derive(Debug)]
pub(super) struct Entry {
    connections: Arc<Connections>,
    id: u64,
}

impl Connections {
    pub(super) fn new(limits: ConnectionLimits) -> Self {
        Self { limits, state: Mutex::default() }
    }

    /// Admits a connection, if it is below the maximum or another connection can be closed.
    pub(super) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<OpenConnection> {
        let (address, now) = (ClientAddress::from_ip(address), Instant::now());
        let (close, closed) = oneshot::channel();
        let mut state = self.state.lock().ignore_poison();
        if !state.make_room(address, self.limits, now) {
            return None;
        }
        let id = state.next;
        state.next += 1;
        let open = Open { address, stage: Stage::Head, since: now, is_allowed: false, close: Some(close) };
        state.open.insert(id, open);
        drop(state);
        Some(OpenConnection { entry: Arc::new(Entry { connections: Arc::clone(self), id }), closed })
    }

    /// Closes a connection that waits for its client; returns `false` if no connection waits.
    pub(super) fn close_one(&self) -> bool {
        self.state.lock().ignore_poison().close_oldest(Instant::now(), Among::All)
    }
}

impl ConnectionsState {
    /// Closes connections, if necessary, so that one of `address` can be added; returns `false` if none can be closed.
    fn make_room(&mut self, address: ClientAddress, limits: ConnectionLimits, now: Instant) -> bool {
        let ConnectionLimits { total, per_address } = limits;
        if !address.is_loopback()
            && self.count(now, Among::Of(address)) >= per_address
            && !self.close_oldest(now, Among::Of(address))
        {
            return false;
        }
        let for_unknown = total - total / RESERVED_PART;
        if !self.is_known(address, now) && self.count(now, Among::Unknown) >= for_unknown {
            return self.close_oldest(now, Among::Unknown);
        }
        self.count(now, Among::All) < total || self.close_oldest(now, Among::All)
    }

    /// Returns the number of connections that are not closing.
    fn count(&self, now: Instant, among: Among) -> usize {
        self.open.values().filter(|open| open.close.is_some() && self.is_among(open, now, among)).count()
    }

    fn is_among(&self, open: &Open, now: Instant, among: Among) -> bool {
        match among {
            Among::All => true,
            Among::Unknown => !self.is_known(open.address, now),
            Among::Of(address) => open.address == address,
        }
    }

    fn is_known(&self, address: ClientAddress, now: Instant) -> bool {
        self.known.get(&address).is_some_and(|last| now.duration_since(*last) < KNOWN)
    }

    /// Closes the connection that has waited longest for its client: those of unknown clients first, and before those
    /// that read an answer without having been authorized.
    fn close_oldest(&mut self, now: Instant, among: Among) -> bool {
        let closable = self.open.iter().filter(|(_, open)| {
            let waits = open.stage < Stage::Answer || !open.is_allowed;
            open.close.is_some() && waits && self.is_among(open, now, among)
        });
        let order = |open: &Open| (open.stage, self.is_known(open.address, now), open.since);
        let oldest = closable.min_by_key(|(_, open)| order(open)).map(|(id, _)| *id);
        let Some(close) = oldest.and_then(|id| self.open.get_mut(&id)).and_then(|open| open.close.take()) else {
            return false;
        };
        // Ignored: it has ended meanwhile.
        let _ = close.send(());
        true
    }

    fn remember(&mut self, address: ClientAddress, now: Instant) {
        if self.known.len() >= MAX_KNOWN && !self.known.contains_key(&address) {
            self.known.retain(|_, last| now.duration_since(*last) < KNOWN);
        }
        if self.known.len() < MAX_KNOWN || self.known.contains_key(&address) {
            self.known.insert(address, now);
        }
    }
}

impl Entry {
    /// Sets the stage of the current request.
    pub(super) fn set_stage(&self, stage: Stage) {
        let mut connections = self.connections.state.lock().ignore_poison();
        if let Some(open) = connections.open.get_mut(&self.id) {
            (open.stage, open.since) = (stage, Instant::now());
            open.is_allowed &= stage == Stage::Answer;
        }
    }

    /// Records that the client may make the current request.
    pub(super) fn allow(&self) {
        let mut state = self.connections.state.lock().ignore_poison();
        let Some(open) = state.open.get_mut(&self.id) else { return };
        open.is_allowed = true;
        let address = open.address;
        state.remember(address, Instant::now());
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.connections.state.lock().ignore_poison().open.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_limits(limits: (usize, usize)) -> Arc<Connections> {
        Arc::new(Connections::new(ConnectionLimits { total: limits.0, per_address: limits.1 }))
    }

    fn admit(connections: &Arc<Connections>, address: &str) -> Option<OpenConnection> {
        connections.admit(address.parse().unwrap())
    }

    fn is_closed(open: &mut OpenConnection) -> bool {
        open.closed.try_recv().is_ok()
    }

    #[test]
    fn the_oldest_connection_without_a_request_makes_room() {
        let connections = with_limits((16, 16));
        let mut open: Vec<_> = (0..14).map(|_| admit(&connections, "127.0.0.1").unwrap()).collect();
        open[0].entry.set_stage(Stage::Answer);
        open[0].entry.allow();
        open[1].entry.set_stage(Stage::Body);
        // The address is known by now: up to 16 connections.
        open.extend((14..19).map(|_| admit(&connections, "127.0.0.1").unwrap()));
        let closed: Vec<_> = open.iter_mut().map(is_closed).collect();
        let expected: Vec<_> = (0..19).map(|at| (2..5).contains(&at)).collect();
        assert_eq!(closed, expected);
    }

    #[test]
    fn answers_to_allowed_clients_are_never_closed_and_others_are_last() {
        let connections = with_limits((8, 8));
        let mut open: Vec<_> = (0..7).map(|_| admit(&connections, "192.0.2.1").unwrap()).collect();
        for open in &open {
            open.entry.set_stage(Stage::Answer);
        }
        open[..6].iter().for_each(|open| open.entry.allow());
        let mut extra: Vec<_> = (0..2).map(|_| admit(&connections, "192.0.2.1").unwrap()).collect();
        assert!(open[..6].iter_mut().all(|open| !is_closed(open)));
        assert!(is_closed(&mut extra[0]) != is_closed(&mut open[6]), "one makes room");
        for open in &extra {
            open.entry.set_stage(Stage::Answer);
            open.entry.allow();
        }
        drop(open.pop());
        let last = admit(&connections, "192.0.2.1").unwrap();
        last.entry.set_stage(Stage::Answer);
        last.entry.allow();
        drop(extra);
    }

    #[test]
    fn one_address_has_its_share_and_a_known_client_finds_room() {
        let connections = with_limits((16, 4));
        let known = admit(&connections, "203.0.113.9").unwrap();
        known.entry.allow();
        drop(known);
        let mut open = Vec::new();
        for network in 1..=5 {
            for host in 0..6 {
                open.extend(admit(&connections, &format!("2001:db8:0:{network}::{host}")));
            }
        }
        let admitted = open.iter_mut().filter_map(|open| (!is_closed(open)).then_some(())).count();
        assert_eq!(admitted, 14, "two are kept for known clients");
        for open in &open {
            open.entry.set_stage(Stage::Answer);
            open.entry.allow();
        }
        let of_known: Vec<_> = (0..2).map(|_| admit(&connections, "203.0.113.9").unwrap()).collect();
        for open in &of_known {
            open.entry.set_stage(Stage::Answer);
            open.entry.allow();
        }
        assert!(admit(&connections, "127.0.0.1").is_none(), "nothing can be closed for it");
    }

    #[test]
    fn a_connection_counts_until_it_is_dropped() {
        let connections = with_limits((8, 2));
        for _ in 0..100 {
            let one = admit(&connections, "192.0.2.1").unwrap();
            one.entry.set_stage(Stage::Answer);
            one.entry.allow();
        }
        assert!(!connections.close_one());
    }
}
