//! The schemas of the tools of a server, kept in a file, and compared with the live server.
