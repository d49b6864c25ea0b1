/** Issuer in records of people whom the host authenticates itself. Spec: format 1 section 8, `principal.seen`. */
export const HOST_ISSUER = "flyball.local/host"
