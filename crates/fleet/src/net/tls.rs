//! TLS between a controller and agents, whoever of the two dials: both have the same token, and
//! nothing else lets anyone in.
//!
//! From the token both sides derive two keys, of the controller and of the agents. Each shows a
//! certificate that it signed itself, and takes exactly the one public key that it derived for the
//! other side; names, dates and issuers are not looked at. Whoever shows that key must sign the
//! handshake with it. TLS 1.3 alone is spoken, and no session is resumed.

use std::sync::Arc;

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::default_provider;
use rustls::crypto::ring::sign::any_eddsa_type;
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{NoServerSessionStorage, ParsedCertificate};
use rustls::sign::{CertifiedKey, SigningKey, SingleCertAndKey};
use rustls::version::TLS13;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, Error,
    PeerIncompatible, ServerConfig, SignatureScheme,
};
use tokio_rustls::{TlsAcceptor, TlsConnector};
use zeroize::Zeroizing;

use crate::token::Token;

/// What the keys of the controller and of the agents are derived for. A change of these words, or
/// of how keys are derived, shuts out all agents of before.
const CONTROLLER: &str = "plimsoll fleet: key of the controller";
const AGENT: &str = "plimsoll fleet: key of the agents";

/// What is spoken within TLS: HTTP/2.
const PROTOCOL: &[u8] = b"h2";

/// A key in PKCS #8, up to its 32 bytes (RFC 8410, section 7).
const PRIVATE_HEAD: [u8; 16] = *b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";

/// The algorithm Ed25519, as certificates name it.
const ED25519: &[u8] = b"\x30\x05\x06\x03\x2b\x65\x70";

/// Returns what makes a connection that came in to the controller secret.
pub fn acceptor(token: &Token) -> TlsAcceptor {
    acceptor_of(token, CONTROLLER, AGENT)
}

/// Returns what makes a connection that came in to an agent secret.
pub fn agent_acceptor(token: &Token) -> TlsAcceptor {
    acceptor_of(token, AGENT, CONTROLLER)
}

/// Returns what makes a connection to a controller secret.
pub fn connector(token: &Token) -> TlsConnector {
    connector_of(token, AGENT, CONTROLLER)
}

/// Returns what makes a connection to an agent secret.
pub fn controller_connector(token: &Token) -> TlsConnector {
    connector_of(token, CONTROLLER, AGENT)
}

/// Accepts as one side, and takes the other alone.
fn acceptor_of(token: &Token, side: &str, other: &str) -> TlsAcceptor {
    let provider = Arc::new(default_provider());
    let pinned = Pinned::new(token, other, provider.signature_verification_algorithms);
    let builder = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .expect("the provider has TLS 1.3");
    let mut config =
        builder.with_client_cert_verifier(Arc::new(pinned)).with_cert_resolver(own(token, side));
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    TlsAcceptor::from(Arc::new(config))
}

/// Connects as one side, and takes the other alone.
fn connector_of(token: &Token, side: &str, other: &str) -> TlsConnector {
    let provider = Arc::new(default_provider());
    let pinned = Pinned::new(token, other, provider.signature_verification_algorithms);
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .expect("the provider has TLS 1.3");
    let mut config = builder
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(pinned))
        .with_client_cert_resolver(own(token, side));
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    config.resumption = Resumption::disabled();
    config.enable_sni = false;
    TlsConnector::from(Arc::new(config))
}

/// Returns the name that whoever dials asks for. It is neither sent nor looked at.
pub fn peer_name() -> ServerName<'static> {
    ServerName::try_from("plimsoll").expect("it is a name")
}

/// Returns the key of a side with its certificate.
fn own(token: &Token, purpose: &str) -> Arc<SingleCertAndKey> {
    let key = key(token, purpose);
    let certificate = CertificateDer::from(certificate(&*key));
    Arc::new(SingleCertAndKey::from(CertifiedKey::new(vec![certificate], key)))
}

/// Derives the key of a side.
fn key(token: &Token, purpose: &str) -> Arc<dyn SigningKey> {
    let seed = token.derived(purpose);
    let mut private = Zeroizing::new([0; PRIVATE_HEAD.len() + 32]);
    private[..PRIVATE_HEAD.len()].copy_from_slice(&PRIVATE_HEAD);
    private[PRIVATE_HEAD.len()..].copy_from_slice(&*seed);
    let key = any_eddsa_type(&PrivatePkcs8KeyDer::from(&private[..]));
    key.expect("32 bytes are a key of Ed25519")
}

/// Returns the public half of a key as certificates have it.
fn public(key: &dyn SigningKey) -> Vec<u8> {
    key.public_key().expect("the provider knows it").to_vec()
}

/// Returns a certificate of a key, signed by itself (RFC 5280, section 4.1).
fn certificate(key: &dyn SigningKey) -> Vec<u8> {
    let common_name = [b"\x06\x03\x55\x04\x03" as &[u8], &der(0x0c, &[b"plimsoll"])];
    let name = der(0x30, &[&der(0x31, &[&der(0x30, &common_name)])]);
    // From the first to the last date that there is: the token is what ends.
    let dates = [&der(0x17, &[b"700101000000Z"])[..], &der(0x18, &[b"99991231235959Z"])];
    let content = der(
        0x30,
        &[
            b"\xa0\x03\x02\x01\x02", // of version 3
            b"\x02\x01\x01",         // with the number 1
            ED25519,
            &name,
            &der(0x30, &dates),
            &name,
            &public(key),
        ],
    );
    let signer = key.choose_scheme(&[SignatureScheme::ED25519]).expect("it has no other");
    let signature = signer.sign(&content).expect("Ed25519 signs anything");
    der(0x30, &[&content, ED25519, &der(0x03, &[&[0], &signature])])
}

/// Returns a value of ASN.1 in DER, of at most 64 KiB.
fn der(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let n_bytes = u16::try_from(content.len()).expect("a name, a key or a date is short");
    let [high, low] = n_bytes.to_be_bytes();
    let head: &[u8] = match n_bytes {
        0..0x80 => &[tag, low],
        0x80..0x100 => &[tag, 0x81, low],
        0x100.. => &[tag, 0x82, high, low],
    };
    [head, &content].concat()
}

/// Takes a peer that shows one public key, and proves that it has the private one.
#[derive(Debug)]
struct Pinned {
    public: Vec<u8>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Pinned {
    fn new(token: &Token, purpose: &str, algorithms: WebPkiSupportedAlgorithms) -> Self {
        Pinned { public: public(&*key(token, purpose)), algorithms }
    }

    fn check(&self, shown: &CertificateDer<'_>) -> Result<(), Error> {
        let key = ParsedCertificate::try_from(shown)?.subject_public_key_info();
        if key.as_ref() == self.public {
            Ok(())
        } else {
            Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
        }
    }

    fn check_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check(shown)?;
        verify_tls13_signature(message, shown, signed, &self.algorithms)
    }
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(shown).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::PeerIncompatible(PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(message, shown, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        shown: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(shown).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::PeerIncompatible(PeerIncompatible::Tls12NotOffered))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(message, shown, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is derived and shown must not change: agents of other versions derive it, too. Both
    /// keys were worked out with HMAC-SHA-256 and Ed25519 of other programs.
    #[test]
    fn keys_are_those_of_every_version() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t");
        let line = format!("plimsoll-token-1:{}\n", "07".repeat(32));
        std::fs::write(&path, line).expect("it is ours");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&path, mode).expect("it is ours");
        let token = Token::read(&path).expect("a token");
        let hex = |purpose| -> String {
            let public = public(&*key(&token, purpose));
            public[12..].iter().map(|byte| format!("{byte:02x}")).collect()
        };
        assert_eq!(
            hex(CONTROLLER),
            "92b80e1e7da4603383c4713fdcdfd70001ababbafa4c89ed286506d1efd2b516"
        );
        assert_eq!(hex(AGENT), "f75b239268c655052e2ac4f4d26b14cb7c5034ac35d5c47df82b30db04c2bf9c");
    }

    #[test]
    fn a_certificate_is_read_by_others() {
        let token = Token::draw().expect("random numbers");
        let key = key(&token, AGENT);
        let shown = CertificateDer::from(certificate(&*key));
        let read = ParsedCertificate::try_from(&shown).expect("a certificate");
        assert_eq!(read.subject_public_key_info().to_vec(), public(&*key));
        let pinned = |purpose| {
            let algorithms = default_provider().signature_verification_algorithms;
            Pinned::new(&token, purpose, algorithms).check(&shown)
        };
        assert!(pinned(AGENT).is_ok());
        // An agent's key is not the controller's.
        assert!(pinned(CONTROLLER).is_err());
    }
}
