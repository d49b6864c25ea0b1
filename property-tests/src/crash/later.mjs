// Preloaded: the clock of this process and of its threads is so many milliseconds ahead.
const now = Date.now
Date.now = () => now() + Number(process.env.FLYBALL_TEST_LATER_MS)
