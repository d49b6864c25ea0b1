/** Where an issuer may be. */

/** True for an address where an issuer, or its keys, may be: https, or http on this host. */
export const isIssuerUrl = (text: string): boolean => {
  if (!URL.canParse(text)) return false
  const { hash, hostname, password, protocol, username } = new URL(text)
  if (username !== "" || password !== "" || hash !== "") return false
  return protocol === "https:" || (protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(hostname))
}
