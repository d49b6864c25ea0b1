/**
 * A text that may be an address, without what in it may be a password or a key: for a sentence about what is wrong with
 * it.
 */

/**
 * Masks what stands before an `@` where that may be `user:password`, and what follows a `?` or `#` in an address.
 * Whole, since what is wrong may be the password's spelling.
 *
 * An e-mail address stays as it is.
 */
export const withoutSecrets = (text: string): string => {
  const [scheme = ""] = /^[A-Za-z][A-Za-z0-9+.-]*:\/\//.exec(text) ?? []
  const rest = text.slice(scheme.length)
  const at = rest.lastIndexOf("@")
  const user = at < 0 ? "" : rest.slice(0, at)
  const shown = (scheme !== "" && user !== "") || user.includes(":") ? `****${rest.slice(at)}` : rest
  return scheme + (scheme === "" ? shown : shown.replace(/([?#]).*/s, "$1****"))
}
