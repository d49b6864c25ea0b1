/** What `@flyball/core/envelope-export` promises. */
export { type Exported, exportEnvelope, type ExportLanguage, exportLanguages } from "./export-envelope.ts"
