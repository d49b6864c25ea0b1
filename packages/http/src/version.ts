/** The version that `GET /status` of an embedding host says. A test compares it with package.json. */
export const version = "0.1.0"
