/** The tag under which a failure is reported. */

/** The tag itself, but for one: a store that is well is not blamed for what others kept changing. */
export const reportedTag = (tag: string, error: object): string =>
  tag === "StorageUnavailable" && "contended" in error && error.contended === true ? "StorageConflict" : tag
