# What single rooms need beyond the common: third-party libraries and units apart.
