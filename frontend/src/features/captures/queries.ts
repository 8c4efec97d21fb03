import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { api, unwrap } from "@/lib/api/client";
import type { Capture } from "@/lib/api/types";
import { uploadFile } from "@/lib/api/upload";
import { usePages } from "@/lib/api/usePages";
import { isOpen, type UploadOptions, uploadUrl } from "./captureText";

const OPEN_EVERY_MS = 1_000;
const EVERY_MS = 5_000;

/** Captures, newest first. */
export function useCaptures() {
  return usePages(
    ["captures", "list"],
    (cursor) =>
      unwrap(api.GET("/api/v1/captures", { params: { query: { limit: 50, ...(cursor ? { cursor } : {}) } } })),
    EVERY_MS,
  );
}

/** One capture, fetched often until its analysis is done. */
export function useCapture(id: string) {
  return useQuery({
    queryKey: ["captures", "one", id],
    queryFn: () => unwrap(api.GET("/api/v1/captures/{capture_id}", { params: { path: { capture_id: id } } })),
    refetchInterval: ({ state }) => (state.data && !isOpen(state.data) ? false : OPEN_EVERY_MS),
  });
}

/** PSNs over time of one queue pair. */
export function useCaptureSeries(id: string, place: number) {
  return useQuery({
    queryKey: ["captures", "series", id, place],
    staleTime: Infinity,
    queryFn: () =>
      unwrap(api.GET("/api/v1/captures/{capture_id}/series/{place}", { params: { path: { capture_id: id, place } } })),
  });
}

/** RNIC models with published latencies. */
export function useTransportModels() {
  return useQuery({
    queryKey: ["captures", "models"],
    staleTime: Infinity,
    queryFn: () => unwrap(api.GET("/api/v1/captures/models")),
  });
}

/** Latencies against the published ones of a model. */
export function useCaptureVerdicts(id: string, model: string | undefined) {
  return useQuery({
    queryKey: ["captures", "verdicts", id, model],
    enabled: model !== undefined,
    staleTime: Infinity,
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/captures/{capture_id}/verdicts", {
          params: { path: { capture_id: id }, query: { model: model ?? "" } },
        }),
      ),
  });
}

/** Sends a file and says how far it is; `cancel` ends it, and the server keeps nothing. */
export function useUpload() {
  const client = useQueryClient();
  const [share, setShare] = useState(0);
  const abort = useRef<AbortController | null>(null);
  const upload = useMutation({
    mutationFn: ({ file, options }: { file: File; options: UploadOptions }) => {
      setShare(0);
      abort.current = new AbortController();
      return uploadFile<Capture>(uploadUrl(file.name, options), file, setShare, abort.current.signal);
    },
    onSuccess: () => void client.invalidateQueries({ queryKey: ["captures", "list"] }),
  });
  return { upload, share, cancel: () => abort.current?.abort() };
}

export function useAttachCapture(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (incidentId: string) =>
      unwrap(
        api.POST("/api/v1/captures/{capture_id}/attach", {
          params: { path: { capture_id: id } },
          body: { incident_id: incidentId },
        }),
      ),
    onSuccess: () => void client.invalidateQueries({ queryKey: ["incidents"] }),
  });
}

export function useDeleteCapture(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      const { error, response } = await api.DELETE("/api/v1/captures/{capture_id}", {
        params: { path: { capture_id: id } },
      });
      if (!response.ok) await unwrap(Promise.resolve({ error, response }));
    },
    onSuccess: () => void client.invalidateQueries({ queryKey: ["captures", "list"] }),
  });
}
