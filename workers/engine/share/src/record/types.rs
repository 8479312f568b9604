//! The types of records: one line for each, with its code, its name, and the version that added it (Q73).
//!
//! A type never changes, and its line never does. A new type gets a line with the next version as its `since`
//! (Q74, queue-ownership.md 4.15).

/// The version of the first release, and of a lane without a VERSION record.
pub const FIRST_VERSION: u16 = 1;

macro_rules! record_types {
    ($($(#[$meta:meta])* $variant:ident = $code:literal, $name:literal, since $since:literal;)*) => {
        /// The type of a record.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum RecordType {
            $($(#[$meta])* $variant,)*
        }

        impl RecordType {
            /// All types.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The number of the type in a record.
            #[must_use]
            pub const fn code(self) -> u16 {
                match self {
                    $(Self::$variant => $code,)*
                }
            }

            /// The name of the type in the specification.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// The version that added the type. No release of an older version reads it.
            #[must_use]
            pub const fn since(self) -> u16 {
                match self {
                    $(Self::$variant => $since,)*
                }
            }

            /// The type of a number; `None` for a type that this code does not know.
            #[must_use]
            pub const fn from_code(code: u16) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

// 14 to 18 are those of transactions.
record_types! {
    /// A share queue has this name.
    Wire = 1, "WIRE", since 1;
    /// A member owns a share queue.
    Own = 2, "OWN", since 1;
    /// A member owns it no more.
    Unown = 3, "UNOWN", since 1;
    /// Messages were handed out.
    Acquire = 4, "ACQUIRE", since 1;
    /// Messages were finished.
    Accept = 5, "ACCEPT", since 1;
    /// Messages were given back.
    Release = 6, "RELEASE", since 1;
    /// Messages are kept longer.
    Renew = 7, "RENEW", since 1;
    /// Messages were given up.
    Reject = 8, "REJECT", since 1;
    /// The time of deliveries is over.
    Expire = 9, "EXPIRE", since 1;
    /// Messages are not wanted, or gone.
    Gap = 10, "GAP", since 1;
    /// A client is gone.
    ClientGone = 11, "CLIENTGONE", since 1;
    /// A member is gone.
    MemberGone = 12, "MEMBERGONE", since 1;
    /// The whole state of a share queue.
    Snap = 13, "SNAP", since 1;
    /// A point in the lane.
    Mark = 19, "MARK", since 1;
    /// The version of the records from here on.
    Version = 20, "VERSION", since 1;
    /// All share queues of a topic or of a group are gone.
    Drop = 21, "DROP", since 2;
}

/// The newest version that this code reads and writes.
pub const VERSION: u16 = {
    let mut newest = FIRST_VERSION;
    let mut at = 0;
    while at < RecordType::ALL.len() {
        if RecordType::ALL[at].since() > newest {
            newest = RecordType::ALL[at].since();
        }
        at += 1;
    }
    newest
};
