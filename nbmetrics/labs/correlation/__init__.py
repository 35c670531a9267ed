"""CorrelationLab: what MFID, RFID and CFID see of a wrong pairing."""
