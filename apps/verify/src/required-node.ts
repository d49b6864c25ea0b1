/** The oldest Node that runs the joined verifier: its crypto has one-shot hashes, its zlib a CRC-32. */
const OLDEST: readonly [major: number, minor: number] = [20, 19]

/** Null for a version that runs the verifier; else a sentence that says what to install. */
export const requireNode = (version: string): string | null => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  const isNewEnough = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])
  return isNewEnough
    ? null
    : `Node.js ${OLDEST.join(".")} or newer is needed, and this is ${version}. Nothing is said about the pack.`
}
