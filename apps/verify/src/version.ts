/** The version of the verifier, for its reports. A test compares it with package.json. */
export const version = "0.1.0"
