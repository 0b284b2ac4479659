//! Which documents may be sent to a remote provider.

use cornu_core::{Acl, Grant, Principal};

/// Which documents may be sent to a remote provider.
///
/// Naming a remote provider is consent for what everybody may see anyway. Everything else needs
/// [`Disclosure::Everything`], which nothing but the caller can choose.
///
/// This type is the rule and not its enforcement: a provider sees texts, not grants. Whoever
/// reads documents and holds a remote provider asks [`permits`](Self::permits) for each document
/// *before* its text is handed over, and refuses the document (or embeds it with a local
/// provider) when the answer is no. A query is its asker's own text; it is sent to whatever
/// provider the index was set up with.
///
/// Whether a provider is remote is told by [`Client::leaves_machine`](crate::Client::leaves_machine).
///
/// ```
/// use cornu_core::Acl;
/// use cornu_remote::Disclosure;
///
/// let payroll = Acl::new(["hr"])?;
/// assert!(Disclosure::PublicOnly.permits(&Acl::public()));
/// assert!(!Disclosure::PublicOnly.permits(&payroll));
/// assert!(!Disclosure::PublicOnly.permits(&Acl::nobody()));
/// assert!(Disclosure::Everything.permits(&payroll));
/// assert_eq!(Disclosure::default(), Disclosure::PublicOnly);
/// # Ok::<(), cornu_core::AclError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Disclosure {
    /// Only documents that name the grant `public`.
    #[default]
    PublicOnly,
    /// All documents, whoever may see them.
    Everything,
}

impl Disclosure {
    /// Whether a document with these grants may be sent. An empty set of grants is not public.
    #[must_use]
    pub fn permits(self, acl: &Acl) -> bool {
        match self {
            Self::PublicOnly => acl.admits(&Principal::public()),
            Self::Everything => true,
        }
    }

    /// Whether all that an asker may see may be sent: for what is made of it, such as a prompt or
    /// the sentences of an answer. Who holds no grant sees nothing, which may.
    ///
    /// ```
    /// use cornu_core::Principal;
    /// use cornu_remote::Disclosure;
    ///
    /// let clerk = Principal::new(["public", "hr"])?;
    /// assert!(Disclosure::PublicOnly.permits_asker(&Principal::public()));
    /// assert!(Disclosure::PublicOnly.permits_asker(&Principal::default()));
    /// assert!(!Disclosure::PublicOnly.permits_asker(&clerk));
    /// assert!(Disclosure::Everything.permits_asker(&clerk));
    /// # Ok::<(), cornu_core::AclError>(())
    /// ```
    #[must_use]
    pub fn permits_asker(self, principal: &Principal) -> bool {
        match self {
            Self::PublicOnly => principal.grants().all(|it| it.as_str() == Grant::PUBLIC),
            Self::Everything => true,
        }
    }
}
