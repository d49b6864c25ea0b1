/** What `@flyball/node` promises. Everything not listed may change tomorrow. */
export { createFile } from "./atomic-file.ts"
export { dataFolder, dataFolderVkey } from "./data-folder.ts"
export { installGuardState, readGuardState } from "./guard-backup.ts"
export type { DataFolderOptions } from "./open-folder.ts"
export { trustFolder, type TrustFolderOptions } from "./trust-folder.ts"
