/** Whom records name as the issuer of people that the host vouches for. */
export const HOST_ISSUER = "flyball.local/host"
