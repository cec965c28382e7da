"""HTTP headers of every reply of the page."""

HEADERS = (
    ("Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
     " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), microphone=(), geolocation=()"),
)  # fmt: skip
# With a certificate that is not self-signed: prevents a downgrade to plain HTTP. One week, since an
# owner who removes the certificate is locked out for that long.
STRICT = ("Strict-Transport-Security", "max-age=604800")
