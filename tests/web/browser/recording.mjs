// What the tests of a file look at: a browser, and a program that has ended, so that nothing changes any more.
import { after, test } from "node:test";
import { Service } from "./service.mjs";
import { launch, Visit } from "./visit.mjs";

/** Until the file's tests are over. visited: a page at a service of the test's own; both are ended, whatever came. */
export async function openBrowser() {
  const browser = await launch();
  after(() => browser.close());
  const visited = async (starting, act) => {
    const own = await starting;
    try {
      const visit = await Visit.of(browser, own.uri);
      await act(visit, own);
      await visit.close();
    } finally {
      await own.end();
    }
  };
  return { browser, visited };
}

/**
 * command, options: as Service.of has them. samples: how many the service has. visiting: a test with a page of its
 * own, which shows them all.
 */
export async function recordingOf(command, ...options) {
  const { browser, visited } = await openBrowser();
  const service = await Service.ended(command, ...options);
  after(() => service.end());
  const { sampleCount: samples } = await service.ask("_getCpuSamples");
  const visiting = (name, act, options) =>
    test(name, async () => {
      const visit = await Visit.of(browser, service.uri, options);
      await visit.exactly(samples);
      await act(visit);
      await visit.close();
    });
  return { browser, service, samples, visited, visiting };
}
