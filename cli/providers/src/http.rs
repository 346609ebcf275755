//! What every HTTP client here begins with.

use std::sync::Once;

/// A client to be set up. What encrypts is ring; certificates are checked as the system checks them.
pub fn client() -> reqwest::ClientBuilder {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // An error says that the process has a provider already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    reqwest::Client::builder()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_client_encrypts_by_ring() {
        super::client().build().unwrap();
        super::client().build().unwrap();
        let provider = rustls::crypto::CryptoProvider::get_default().unwrap();
        assert!(format!("{:?}", provider.key_provider).contains("Ring"), "{:?}", provider.key_provider);
    }
}
