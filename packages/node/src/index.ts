/** What `@flyball/node` promises. Everything not listed may change tomorrow. */
export { dataFolder, dataFolderVkey } from "./data-folder.ts"
export type { DataFolderOptions } from "./open-folder.ts"
