// Counts cases and says how each went: what run.sh adds up.
export class Checks {
  constructor(suite) {
    this.suite = suite;
    this.passed = 0;
    this.failed = 0;
    this.skipped = 0;
  }

  // Runs one case; what it throws is why it failed.
  async run(name, body, limit = 60_000) {
    let timer;
    try {
      const late = new Promise((_, no) => {
        timer = setTimeout(() => no(new Error(`not done after ${limit} ms`)), limit);
      });
      await Promise.race([body(), late]);
      this.passed += 1;
      console.log(`ok ${this.suite}: ${name}`);
    } catch (error) {
      this.failed += 1;
      console.log(`not ok ${this.suite}: ${name}: ${error?.stack ?? error}`);
    } finally {
      clearTimeout(timer);
    }
  }

  skip(name, reason) {
    this.skipped += 1;
    console.log(`BH_SKIPPED ${this.suite} ${name}: ${reason}`);
  }

  // The line that run.sh reads; the exit code says the same.
  finish() {
    console.log(`counts ${this.passed} ${this.failed} ${this.skipped}`);
    process.exitCode = this.failed === 0 ? 0 : 1;
  }
}

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// True once `test` is, false after `limit` ms.
export async function eventually(test, limit) {
  const end = Date.now() + limit;
  while (Date.now() < end) {
    if (await test()) return true;
    await sleep(50);
  }
  return false;
}

export function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
