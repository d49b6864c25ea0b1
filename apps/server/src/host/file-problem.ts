/** Explains the system's error codes of files to an operator. */

const meanings: { readonly [code: string]: string } = {
  EACCES: "this account may not",
  EPERM: "this account may not",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EFBIG: "a file may not be that large here",
  EIO: "the disk failed",
  ENOENT: "it is not there",
  ENOTDIR: "a file is in the way where a folder is needed",
  EISDIR: "it is a folder",
  EMFILE: "too many files are open",
  ENAMETOOLONG: "the name is too long",
  ELOOP: "its links go round in a circle"
}

/** A few words for an error of the file system, with its code. Never its message, which names paths in its own way. */
export const fileProblem = (cause: unknown): string => {
  const code = (cause as NodeJS.ErrnoException | null)?.code ?? "unknown cause"
  return meanings[code] === undefined ? code : `${meanings[code]} (${code})`
}
