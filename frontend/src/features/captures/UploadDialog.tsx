import { Button, Checkbox, FileInput, Group, NumberInput, Progress, Stack, Text, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { FormDialog } from "@/lib/ui/FormDialog";
import { DEFAULT_OPTIONS, formatBytes, isPort } from "./captureText";
import { useUpload } from "./queries";

/** Choose a file, say what is special about it, and see how far the upload is. */
export function UploadDialog({ incident, onClose }: { incident: string | undefined; onClose: () => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [options, setOptions] = useState(DEFAULT_OPTIONS);
  const { upload, share, cancel } = useUpload();
  const navigate = useNavigate();
  const portProblem = isPort(options.rocePort) ? null : "A port from 1 to 65535, or any";
  const close = () => {
    cancel();
    onClose();
  };
  return (
    <FormDialog
      title="Upload a capture"
      submit="Upload"
      request={upload}
      disabled={file === null || portProblem !== null}
      onClose={close}
      onSubmit={(event) => {
        event.preventDefault();
        if (!file || portProblem !== null) return;
        upload.mutate(
          { file, options },
          {
            onSuccess: ({ id }) =>
              void navigate({ to: "/captures/$id", params: { id }, search: incident ? { incident } : {} }),
          },
        );
      }}
    >
      <Stack gap={12}>
        <FileInput
          label="File"
          description="pcap or pcapng, gzipped or not; packets cut to 128 bytes are enough"
          placeholder="Choose a file"
          required
          clearable
          data-autofocus
          value={file}
          onChange={setFile}
        />
        <Group grow align="flex-start">
          <TextInput
            label="UDP port of RoCE"
            description="Or “any”"
            value={options.rocePort}
            error={portProblem}
            onChange={({ currentTarget: { value } }) => setOptions((was) => ({ ...was, rocePort: value.trim() }))}
          />
          <NumberInput
            label="Timeout attribute"
            description="Shortest wait: 4.096 µs × 2^n"
            min={0}
            max={31}
            allowDecimal={false}
            value={options.timeout}
            onChange={(value) => setOptions((was) => ({ ...was, timeout: Number(value) || 0 }))}
          />
          <NumberInput
            label="Round trip"
            description="Empty: estimated"
            suffix=" µs"
            min={0}
            value={options.rttUs ?? ""}
            onChange={(value) => setOptions((was) => ({ ...was, rttUs: value === "" ? null : Number(value) }))}
          />
        </Group>
        <Checkbox
          label="Mirrored by a Lumina switch: addresses and TTL hold its metadata"
          checked={options.lumina}
          onChange={({ currentTarget: { checked } }) => setOptions((was) => ({ ...was, lumina: checked }))}
        />
        <Text size="sm" c="dimmed">
          The packets are deleted once they are analysed.
        </Text>
        {upload.isPending && file && (
          <Group gap={12} wrap="nowrap">
            <Progress
              value={100 * share}
              style={{ flexGrow: 1 }}
              aria-label={`Uploaded: ${formatBytes(share * file.size)} of ${formatBytes(file.size)}`}
            />
            <Text size="sm" role="status" style={{ whiteSpace: "nowrap" }}>
              {formatBytes(share * file.size)} of {formatBytes(file.size)}
            </Text>
            <Button size="compact-sm" variant="default" onClick={cancel}>
              Cancel
            </Button>
          </Group>
        )}
      </Stack>
    </FormDialog>
  );
}
