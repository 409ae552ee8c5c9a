// There are no events: how a program comes to have some.

export function NoEvents() {
  return (
    <div class="empty" role="status">
      <p>No events. They show what the program was about, beside where its time went:</p>
      <ul>
        <li>
          In C and C++: <code>#include &lt;isoscope/optional.h&gt;</code>, then <code>ISOSCOPE_BEGIN("App", "load")</code> and{" "}
          <code>ISOSCOPE_END()</code> around what counts.
        </li>
        <li>
          Programs and libraries that are built with Intel's ITT or NVIDIA's NVTX tell theirs to <code>isoscope run</code>, with no
          change.
        </li>
      </ul>
    </div>
  );
}
