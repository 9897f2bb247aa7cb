import { show, type WireEvent } from "../events.js";

/** The event stream as it is. */
export function RawView({ events }: { readonly events: readonly WireEvent[] }) {
  if (events.length === 0) return <p class="page note">Open a session to see its events.</p>;
  return (
    <div class="page">
      <table class="raw">
        <thead>
          <tr>
            <th>#</th>
            <th>Type</th>
            <th>Data</th>
          </tr>
        </thead>
        <tbody>
          {events.map((event) => (
            <tr key={event.index}>
              <td>{event.index}</td>
              <td title={event.at}>
                <code>{event.type}</code>
              </td>
              <td>
                <pre>{show(event.data)}</pre>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
