/** A progress bar on standard error while a terminal watches, and nothing otherwise. */

/** Shows how far a file is; `totalBytes` is null where nobody knows. */
export const progressBar = (
  file: string,
  totalBytes: number | null
): { readonly show: (bytesRead: number, decisions: number) => void; readonly end: () => void } => {
  if (!process.stderr.isTTY) return { show: () => {}, end: () => {} }
  const width = 30
  let shownAtMs = 0
  return {
    show: (bytesRead, decisions) => {
      const nowMs = performance.now()
      if (nowMs - shownAtMs < 100) return
      shownAtMs = nowMs
      const done = totalBytes === null ? null : totalBytes === 0 ? 1 : bytesRead / totalBytes
      if (done === null) process.stderr.write(`\r${file} ${decisions} decisions`)
      else
        process.stderr.write(
          `\r${file} [${"#".repeat(Math.round(done * width)).padEnd(width, ".")}] ${Math.round(done * 100)} % ` +
            `${decisions} decisions`
        )
    },
    end: () => process.stderr.write("\r\x1b[K")
  }
}
