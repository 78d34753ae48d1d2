// Narrows the list of all places to those that have all words of the field. Places
// whose title has them come first.
const field = document.querySelector("#words");
const list = document.querySelector("#places");
const count = document.querySelector("#count");
const places = [...list.children].map((item) => ({
  item,
  title: item.textContent.toLowerCase(),
  words: item.dataset.words,
}));

function narrow() {
  const wanted = field.value.toLowerCase().match(/[a-z0-9_]+/g) ?? [];
  const inAll = (text) => wanted.every((word) => text.includes(word));
  const found = places.filter((place) => inAll(place.title + " " + place.words));
  const first = wanted.length ? found.filter((place) => inAll(place.title)) : [];
  list.replaceChildren(...new Set([...first, ...found].map((place) => place.item)));
  count.textContent = found.length ? `${found.length} of ${places.length} places` : "Nothing was found. Try fewer or shorter words.";
}

field.value = new URLSearchParams(location.search).get("q") ?? "";
field.addEventListener("input", narrow);
narrow();
