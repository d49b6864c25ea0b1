/** Issuer in records of people whom the host authenticates itself. */
export const HOST_ISSUER = "flyball.local/host"
