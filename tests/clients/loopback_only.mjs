// Loaded before a client that tests run: whoever wants to leave this machine ends the program, loudly.
import net from "node:net";

const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost", undefined]);
const connect = net.Socket.prototype.connect;

net.Socket.prototype.connect = function (...given) {
  const [first, second] = Array.isArray(given[0]) ? given[0] : given;
  const options = typeof first === "object" ? first : { host: second };
  if (options.path === undefined && !LOOPBACK.has(options.host)) {
    console.error(`Refused to connect to ${options.host}`);
    process.exit(97);
  }
  return connect.apply(this, given);
};
