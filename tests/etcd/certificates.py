"""Certificates for tests: good ones, and those that something is wrong with."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HOUR, DAY = datetime.timedelta(hours=1), datetime.timedelta(days=1)


class Authority:
    """A CA that signs certificates for 127.0.0.1, for `etcd.test`, and for clients."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(exist_ok=True)
        self.directory = directory
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test CA")])
        self.file = self._write("ca.pem", self._sign(self.name, self.key, ca=True))

    def issue(
        self, name: str, *, age: datetime.timedelta = HOUR, address: str = "127.0.0.1"
    ) -> tuple[Path, Path]:
        """Certificate and key files; with an `age` beyond a day it has expired."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        key_file = self.directory / f"{name}.key"
        key_file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return self._write(f"{name}.pem", self._sign(subject, key, age=age, address=address)), key_file

    def _sign(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePrivateKey,
        *,
        ca: bool = False,
        age: datetime.timedelta = HOUR,
        address: str = "127.0.0.1",
    ) -> x509.Certificate:
        begin = datetime.datetime.now(datetime.UTC) - age
        names = [x509.IPAddress(ipaddress.ip_address(address)), x509.DNSName("etcd.test")]
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self.name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(begin)
            .not_valid_after(begin + DAY)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
            .sign(self.key, hashes.SHA256())
        )

    def _write(self, name: str, certificate: x509.Certificate) -> Path:
        file = self.directory / name
        file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        return file
