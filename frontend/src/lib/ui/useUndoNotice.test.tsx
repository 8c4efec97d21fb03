import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { act, renderHook, screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { describe, expect, it, vi } from "vitest";
import { useUndoNotice } from "./useUndoNotice";

const wrapper = ({ children }: { children: ReactNode }) => (
  <MantineProvider>
    <Notifications />
    {children}
  </MantineProvider>
);

describe("the notice of what was done", () => {
  it("undoes the newest action once, and reports it", async () => {
    const { result } = renderHook(() => useUndoNotice(), { wrapper });
    const first = vi.fn(() => Promise.resolve("the first"));
    const second = vi.fn(() => Promise.resolve("the second"));
    act(() => result.current.announce("One", first));
    act(() => result.current.announce("Two", second));
    act(() => result.current.undoLast());
    act(() => result.current.undoLast());
    expect(second).toHaveBeenCalledOnce();
    expect(first).not.toHaveBeenCalled();
    expect(await screen.findByText("Undone: the second")).toBeTruthy();
  });

  it("offers nothing where there is no way back", async () => {
    const { result } = renderHook(() => useUndoNotice(), { wrapper });
    act(() => result.current.announce("Commented", null));
    const notice = await screen.findByText("Commented");
    expect(notice.closest("[role=status]")?.querySelector("button")).toBeNull();
  });
});
