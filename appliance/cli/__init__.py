"""What an owner types: each verb's module prints, asks a running box, or looks at this machine."""
