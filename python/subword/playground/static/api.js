// What is asked of the server.

const token = new URLSearchParams(location.search).get("token");

export class ApiError extends Error {}

async function call(path, options = {}) {
  const headers = token ? { "X-Subword-Token": token } : {};
  let response;
  try {
    response = await fetch(path, { ...options, headers: { ...headers, ...options.headers } });
  } catch {
    throw new ApiError("unreachable");
  }
  let answer = null;
  try {
    answer = await response.json();
  } catch {
    // Not ours: said by its status below.
  }
  if (!response.ok || answer === null) {
    throw new ApiError(answer?.error ?? `${response.status} ${response.statusText}`);
  }
  return answer;
}

export const get = (path) => call(path);

export const post = (path, body) =>
  call(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

/**
 * Give a function that runs `work` soon after it is called, off the event that called it. While
 * one run lasts, further calls make one more run after it, so the last call always counts and no
 * more than one request is under way.
 */
export function latest(work, onError, delay = () => 0) {
  let running = false;
  let wanted = false;
  let timer = 0;
  const run = async () => {
    if (running) {
      wanted = true;
      return;
    }
    running = true;
    try {
      await work();
    } catch (error) {
      onError(error);
    }
    running = false;
    if (wanted) {
      wanted = false;
      run();
    }
  };
  return () => {
    clearTimeout(timer);
    timer = setTimeout(run, delay());
  };
}
