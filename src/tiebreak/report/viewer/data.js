"use strict";
// Data comes as scripts that call take(): a page opened from a disk may add a script and may not read a file.
const tiebreak = (() => {
  const texts = new Map(), waiting = new Map(), loads = new Map();

  function take(name, text) {
    texts.set(name, text);
    if (waiting.has(name)) waiting.get(name)();
  }

  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  function arrived(name) {
    if (texts.has(name)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      waiting.set(name, resolve);
      const broken = () => reject(new Error(`rollouts/${name}.js cannot be read whole; it belongs beside this page`));
      script.onerror = broken;
      script.onload = () => { if (!texts.has(name)) broken(); };
      script.src = `rollouts/${name}.js`;
      document.head.append(script);
    });
  }

  // The value of a data script; loaded once.
  function load(name) {
    if (!loads.has(name)) {
      loads.set(name, arrived(name).then(() => unpack(texts.get(name))).catch((problem) => {
        loads.delete(name);
        throw problem;
      }));
    }
    return loads.get(name);
  }

  return { take, load };
})();
