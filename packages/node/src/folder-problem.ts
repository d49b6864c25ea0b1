/** A file of the data folder that is not what it should be. */

/**
 * Thrown inside this package only; the layer turns it into `KeysUnreadable` or `StorageCorrupt`. The reason never shows
 * a file's content.
 */
export class FolderProblem extends Error {
  readonly file: string
  readonly reason: string
  constructor(file: string, reason: string, options?: ErrorOptions) {
    super(`${file}: ${reason}`, options)
    this.file = file
    this.reason = reason
  }
}
