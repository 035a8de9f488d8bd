-- Names of devices, at most one for each.

CREATE TABLE device_name (
  device INTEGER PRIMARY KEY REFERENCES device (id),
  name   TEXT NOT NULL UNIQUE
         CHECK (name GLOB '[A-Za-z0-9]*' AND name NOT GLOB '*[^A-Za-z0-9._-]*' AND length(name) <= 64)
) STRICT;
