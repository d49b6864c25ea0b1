/** The tag under which a failure is reported. */

/** The tag to report: the error's own, except that repeated conflicts are not reported as an unavailable store. */
export const reportedTag = (tag: string, error: object): string =>
  tag === "StorageUnavailable" && "contended" in error && error.contended === true ? "StorageConflict" : tag
