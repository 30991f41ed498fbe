// What models and programs wrote is shown as text: elements are made here and filled by textContent, never from markup.
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  for (const child of children) if (child !== null && child !== undefined) made.append(child);
  return made;
}

// Signs that a reader would not see, or that turn the order of others round, are named instead.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

function visible(text) {
  return text.replace(HIDDEN, (sign) => `⟨U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

function block(text, kind) {
  return element("pre", { class: kind || null }, visible(text));
}

function number(value) {
  return value === null || value === undefined ? "–" : String(Math.round(value * 1e4) / 1e4).replace("-", "−");
}
