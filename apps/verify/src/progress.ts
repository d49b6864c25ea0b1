/** A line of progress while a large pack is read. Only where a person watches. */

/** Packs below this are read before anybody wonders. */
export const PROGRESS_FROM_BYTES = 32 * 1024 * 1024
const EVERY_MS = 200

/** Writes progress over one line of a terminal, and wipes it at the end. */
export const progressLine = (write: (text: string) => Promise<void>, nowMs: () => number) => {
  let lastMs = 0
  let shown = false
  return {
    report: ({ bytes, records }: { readonly bytes: number; readonly records: number }): void => {
      const now = nowMs()
      if (now - lastMs < EVERY_MS) return
      lastMs = now
      shown = true
      void write(
        `\r\u001b[K${records.toLocaleString("en")} records, ` +
          `${Math.floor(bytes / 1_000_000).toLocaleString("en")} MB read`
      )
    },
    end: async (): Promise<void> => {
      if (shown) await write("\r\u001b[K")
    }
  }
}
