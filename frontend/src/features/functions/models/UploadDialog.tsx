import { FileInput, Select, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { FormDialog } from "@/lib/ui/FormDialog";
import { useTrain } from "../queries";
import { functionOf, problemOf } from "./files";

const PATTERNS = [
  { value: "pipeline", label: "Pipeline: stages work on different packets at the same time" },
  { value: "run_to_completion", label: "Run to completion: one core takes a packet through everything" },
] as const;

type Pattern = (typeof PATTERNS)[number]["value"];

/** Uploads the profiles of one function; the server trains a model on them. */
export function UploadDialog({ onClose }: { onClose: () => void }) {
  const [files, setFiles] = useState<File[]>([]);
  const [name, setName] = useState("");
  const [nicModel, setNicModel] = useState("BF-2");
  const [firmware, setFirmware] = useState("");
  const [pattern, setPattern] = useState<Pattern>("pipeline");
  const [note, setNote] = useState("");
  const [refused, setRefused] = useState<string>();
  const train = useTrain();
  const send = async () => {
    const read = await Promise.all(files.map(async (file) => ({ name: file.name, text: await file.text() })));
    const problem = problemOf(read);
    setRefused(problem);
    if (problem !== undefined) return;
    await train.mutateAsync({
      function: name.trim(),
      nic_model: nicModel.trim(),
      firmware: firmware.trim(),
      pattern,
      files: read,
      note: note.trim(),
    });
    onClose();
  };
  return (
    <FormDialog
      title="Upload profiles of a function"
      submit="Train"
      request={train}
      disabled={files.length === 0 || name.trim() === "" || nicModel.trim() === ""}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        send().catch(() => undefined); // the dialog shows the server's errors
      }}
    >
      <FileInput
        label="Profile files"
        description="Blank-separated rows without a header. The name says the kind: mem_train (required), reg_train for the accelerator, slomo_train at one number of flows, own_load for the function's own counters."
        multiple
        required
        value={files}
        onChange={(chosen) => {
          setFiles(chosen);
          setRefused(undefined);
          if (name === "") setName(functionOf(chosen));
        }}
        placeholder="Choose files"
        error={refused}
      />
      <TextInput
        label="Function"
        description="As telemetry names it"
        required
        maxLength={63}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextInput
        label="Card model"
        required
        maxLength={50}
        value={nicModel}
        onChange={(event) => setNicModel(event.currentTarget.value)}
      />
      <TextInput
        label="Firmware"
        description="Empty: all firmware versions"
        maxLength={100}
        value={firmware}
        onChange={(event) => setFirmware(event.currentTarget.value)}
      />
      <Select
        label="Execution pattern"
        allowDeselect={false}
        value={pattern}
        onChange={(value) => setPattern(value as Pattern)}
        data={PATTERNS.map((each) => ({ ...each }))}
      />
      <TextInput label="Note" value={note} onChange={(event) => setNote(event.currentTarget.value)} maxLength={200} />
      <Text size="xs" c="dimmed">
        Nothing changes yet: the model becomes a candidate that you can review and promote. One that predicts worse than
        the active version is refused.
      </Text>
    </FormDialog>
  );
}
