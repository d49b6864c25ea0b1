/** Version of `dist/built.json`. */
export const LIST_VERSION: number
/** The joined program of the app in this folder, or null when the sources are to run. */
export const builtProgram: (app: string) => string | null
