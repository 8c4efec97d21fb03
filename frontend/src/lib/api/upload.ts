import { csrfHeaders } from "./client";
import { toProblem, unreachable } from "./problem";

/** Send a file as the body of a POST; `fetch` says nothing of how far it is, so this uses what does. */
export function uploadFile<T>(
  url: string,
  file: Blob,
  onShare: (share: number) => void,
  signal: AbortSignal,
): Promise<T> {
  return new Promise((resolve, reject: (reason: Error) => void) => {
    const request = new XMLHttpRequest();
    request.open("POST", url);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    for (const [name, value] of Object.entries(csrfHeaders())) request.setRequestHeader(name, value);
    request.responseType = "json";
    request.upload.onprogress = ({ loaded, total }) => onShare(total > 0 ? loaded / total : 0);
    request.onload = () => {
      if (request.status >= 200 && request.status < 300) resolve(request.response as T);
      else reject(toProblem(request.status, request.response));
    };
    request.onerror = () => reject(unreachable(new Error("the connection broke off")));
    request.onabort = () => reject(new DOMException("The upload was cancelled.", "AbortError"));
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}
