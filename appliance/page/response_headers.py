"""The headers that every reply of the page has."""

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
# Of a certificate that an authority signed: nobody on the way leads the browser back to plain HTTP.
# A week: so long is who takes the certificate away locked out.
STRICT = ("Strict-Transport-Security", "max-age=604800")
