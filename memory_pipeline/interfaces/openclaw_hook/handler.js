// Written by memory-pipeline; 'memory-pipeline hooks remove openclaw' takes it out.
import { spawn } from "node:child_process";

const COMMAND = %(command)s;
const ENVIRONMENT = %(environment)s;
const EVENTS = ["session:compact:before", "command:new", "command:reset"];
const LONGEST_MS = 120000;

const entry = (one) => one && { sessionId: one.sessionId, sessionFile: one.sessionFile };

export default async function handler(event) {
  if (!EVENTS.includes(`${event.type}:${event.action}`)) return;
  const { sessionId, sessionFile, sessionEntry, previousSessionEntry } = event.context ?? {};
  const told = JSON.stringify({
    type: event.type,
    action: event.action,
    sessionKey: event.sessionKey,
    context: {
      sessionId,
      sessionFile,
      sessionEntry: entry(sessionEntry),
      previousSessionEntry: entry(previousSessionEntry),
    },
  });
  await new Promise((done) => {
    const child = spawn(COMMAND[0], COMMAND.slice(1), {
      stdio: ["pipe", "ignore", "ignore"],
      env: { ...process.env, ...ENVIRONMENT },
    });
    const timer = setTimeout(done, LONGEST_MS);
    const end = () => {
      clearTimeout(timer);
      done();
    };
    child.on("error", end);
    child.on("close", end);
    child.stdin.on("error", () => {});
    child.stdin.end(told);
  });
}
