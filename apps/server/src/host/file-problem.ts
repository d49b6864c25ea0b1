/** Explains the system's error codes of files to an operator. */

const meanings: { readonly [code: string]: string } = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file is too large for the file system",
  EIO: "the disk failed",
  ENOENT: "it does not exist",
  ENOTDIR: "a file is where a folder is expected",
  EISDIR: "it is a folder",
  EMFILE: "too many files are open",
  ENAMETOOLONG: "the name is too long",
  ELOOP: "its links form a loop"
}

/** A few words for an error of the file system, with its code. Never its message, which names paths in its own way. */
export const fileProblem = (cause: unknown): string => {
  const code = (cause as NodeJS.ErrnoException | null)?.code ?? "unknown cause"
  return meanings[code] === undefined ? code : `${meanings[code]} (${code})`
}
