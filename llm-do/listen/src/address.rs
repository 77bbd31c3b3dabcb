//! The addresses whose connections are counted together.

use std::net::{IpAddr, Ipv6Addr};

/// The prefix length of an IPv6 network; its client chooses the remaining bits.
const NETWORK_BITS: u32 = 64;

/// A client, identified by its IPv4 address or its IPv6 network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ClientAddress(IpAddr);

impl ClientAddress {
    pub(super) fn from_ip(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) if !address.is_loopback() => {
                let network = address.to_bits() >> (128 - NETWORK_BITS) << (128 - NETWORK_BITS);
                Ipv6Addr::from_bits(network).into()
            }
            address => address,
        })
    }

    /// Returns whether it is this machine; behind a proxy on it, all clients are.
    pub(super) fn is_loopback(self) -> bool {
        self.0.is_loopback()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(address: &str) -> ClientAddress {
        ClientAddress::from_ip(address.parse().unwrap())
    }

    #[test]
    fn a_network_of_ipv6_is_one_client_and_an_address_of_ipv4_another() {
        assert_eq!(client("2001:db8:1:2::1"), client("2001:db8:1:2:ffff::9"));
        assert_ne!(client("2001:db8:1:2::1"), client("2001:db8:1:3::1"));
        assert_eq!(client("192.0.2.1"), client("::ffff:192.0.2.1"));
        assert_ne!(client("192.0.2.1"), client("192.0.2.2"));
        assert!(
            client("127.0.0.9").is_loopback()
                && client("::1").is_loopback()
                && client("::ffff:127.0.0.1").is_loopback()
        );
        assert!(!client("::2").is_loopback() && !client("10.0.0.1").is_loopback());
    }
}
