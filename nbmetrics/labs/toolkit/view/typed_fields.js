/** Fields to type in, whose value the page may change at any time. */

/** @type {WeakMap<HTMLInputElement, {text: string, isTyping: boolean}>} what a field is to show */
const fields = new WeakMap();

/** Set a field's value, but not over what is typed in it and not given yet; Escape takes that back. @param {HTMLInputElement} input @param {string} text */
export function setValue(input, text) {
  const field = fields.get(input) ?? watchTyping(input);
  field.text = text;
  if (!field.isTyping && input.value !== text) input.value = text;
}

/** @param {HTMLInputElement} input */
function watchTyping(input) {
  const field = { text: "", isTyping: false };
  const restore = () => {
    if (field.isTyping) input.value = field.text;
    field.isTyping = false;
  };
  const giveUp = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || !field.isTyping) return;
    event.preventDefault();
    restore();
  };
  fields.set(input, field);
  input.addEventListener("input", () => (field.isTyping = true));
  input.addEventListener("change", () => (field.isTyping = false), { capture: true }); // before those who read it
  input.addEventListener("keydown", giveUp, { capture: true });
  input.addEventListener("blur", restore);
  return field;
}
