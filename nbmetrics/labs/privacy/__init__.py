"""PrivacyLab: at which ε the ranks survive."""
