/** Counts a header in a request. Of two Node keeps the first; a proxy in front may have read the second. */
export const headerCount = (rawHeaders: ReadonlyArray<string>, name: string): number => {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const one = rawHeaders[index]!
    if (one.length === name.length && one.toLowerCase() === name) count += 1
  }
  return count
}
